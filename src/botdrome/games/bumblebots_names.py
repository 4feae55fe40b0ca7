"""Names for the drones of bumblebots: a kind or an unkind adjective, depending on the seat, and a forename."""

from collections.abc import Container

from botdrome.games.chance import Chance
from botdrome.games.game import Seat


def _words(text: str) -> list[str]:
    return text.split()


KIND = _words("""
    Able Adept Amiable Ardent Artful Blithe Bonny Bouncy Bright Bubbly Buoyant Calm Candid Caring Charming Cheery
    Chivalrous Civil Clement Cordial Cosy Courtly Daring Dashing Dear Decent Devoted Diligent Dutiful Eager Earnest
    Elegant Fair Faithful Fearless Fond Forgiving Frank Gallant Generous Genial Gentle Giving Gleeful Graceful Gracious
    Hardy Heartening Honest Hopeful Humble Jaunty Jolly Jovial Joyful Keen Kindly Lively Lovely Lucid Mellow Merry Mild
    Neat Nimble Noble Patient Peaceful Placid Plucky Polite Prudent Radiant Sage Serene Smiling Soothing Spirited
    Sprightly Steadfast Stout Sunny Supple Sweet Tactful Tender Thankful Trusty Valiant Zestful
""")

UNKIND = _words("""
    Abrasive Aloof Beastly Bitter Bleak Boastful Boorish Bossy Brash Brusque Brutish Callous Catty Churlish Clammy
    Conceited Cowardly Crabby Crafty Crass Cross Cruel Cunning Cynical Deceitful Devious Dour Dreary Fiendish Fickle
    Fierce Flaky Frosty Furtive Ghastly Gloomy Glum Grasping Grim Grouchy Gruff Grumpy Haughty Heartless Hostile Huffy
    Icy Impudent Insolent Irksome Jaded Knavish Livid Loutish Malicious Mean Meddling Miserly Morose Naughty Nosy Oafish
    Odious Peevish Petty Pompous Prickly Pushy Rancid Rotten Rude Scornful Shifty Slimy Sly Smug Sneaky Snide Sour
    Spiteful Stubborn Sulky Sullen Surly Testy Touchy Uncouth Unfair Vain Vile Wily Wretched
""")

FORENAMES = _words("""
    Ada Adela Agatha Agnes Aileen Alba Alma Amabel Amelie Anouk Anthea Astrid Audrey Aurora Beatrix Bella Berenice
    Bertha Blanche Brenda Bridget Bronwen Camilla Carmen Celeste Chloe Clara Clarissa Colette Cora Cordelia Cosima
    Daphne Daria Delia Delphine Dora Doris Edna Effie Elena Elfrida Eliza Elspeth Enid Erika Ethel Eudora Eunice Faye
    Fern Fiona Flavia Flora Freya Frida Gerda Gilda Ginny Greta Gudrun Gwen Harriet Hazel Heidi Hilda Honor Ida Imogen
    Ines Ingrid Irma Isolde Jemima Jessamy Johanna Juno Karin Kirsten Klara Lavinia Leonie Lettice Lilith Lottie Lucinda
    Luna Mabel Magda Marcella Marigold Maud Melba Mildred Minerva Muriel Myrtle Nadia Nettie Nora Odette Olga Ottilie
    Petra Philippa Phoebe Portia Prudence Quintina Ramona Rosamund Rowena Sabina Saskia Selma Sibyl Thea Thelma Ursula
    Viola Zelda
""")

ADJECTIVES = (KIND, UNKIND)


def new_name(seat: Seat, taken: Container[str], chance: Chance) -> str:
    """Return a name that is not taken. Seats never share a name, since no adjective is both kind and unkind."""
    while True:
        name = chance.choice(ADJECTIVES[seat]) + chance.choice(FORENAMES)
        if name not in taken:
            return name
